// The MPI communicator keeps the contract of all communicators.
#include <gtest/gtest.h>

#include <array>

#include "mpi/world.h"
#include "qsim/error.h"
#include "support/communicator_contract.h"

namespace qsim {
namespace {

TEST(MpiCommunicator, KeepsTheContract) {
  EXPECT_EQ(test::mpi_world().name(), "mpi");
  test::check_communicator(test::mpi_world());
}

TEST(MpiCommunicator, RefusesUnequalSizes) {
  std::array<std::byte, 4> data{};
  EXPECT_THROW(test::mpi_world().exchange(test::mpi_world().rank(), std::span(data).first(3), std::span(data).first(4)),
               CommunicatorError);
}

TEST(MpiCommunicator, CanBeMadeTwice) {
  const std::unique_ptr<Communicator> second = make_mpi_communicator();
  EXPECT_EQ(second->size(), test::mpi_world().size());
  second->barrier();
}

}  // namespace
}  // namespace qsim
