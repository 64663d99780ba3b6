// Files that one user's processes keep for later ones, in a folder that is that user's alone.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace qsim {

/// $QSIM_CACHE_DIR, else $XDG_CACHE_HOME/qsim, else $HOME/.cache/qsim, and `purpose` in it; names that are not absolute
/// are passed over. Empty: there is none.
std::string user_cache_folder(const std::string& purpose);

/// Contents by label. The folder is made with mode 0700 and used only while it is this user's and closed to others;
/// files are regular, this user's, and carry a digest keyed with a secret of the folder, so that what another program
/// has put there is not believed. What was used longest ago goes when the files are more than `most_bytes`. Several
/// processes may share it. Trouble with a cache is never an error: `trouble` says why there is none.
class PrivateCache {
 public:
  /// An empty name: no cache.
  PrivateCache(const std::string& folder, std::uint64_t most_bytes);
  ~PrivateCache();
  PrivateCache(const PrivateCache&) = delete;
  PrivateCache& operator=(const PrivateCache&) = delete;

  /// Empty where there is nothing, or nothing to be believed.
  std::string read(std::string_view label) const;
  void write(std::string_view label, std::string_view content) const;

  /// True from the first call on where no other cache has this folder's lock, in this process or another one; it is
  /// held while this lives.
  bool lock() const;

  struct Size {
    std::uint64_t files = 0, bytes = 0;
  };
  Size size() const;
  const std::string& trouble() const { return trouble_; }  // empty: it is used

 private:
  void open_folder();
  void read_key();
  bool make_key() const;
  std::string name_of(std::string_view label) const;
  void remove_oldest() const;

  std::string folder_, trouble_;
  std::uint64_t most_bytes_;
  int descriptor_ = -1;
  std::array<std::uint64_t, 2> key_{};
};

}  // namespace qsim
