(function () {
  // before the first paint: the system's choice, or the reader's from last time
  let theme = null;
  try { theme = localStorage.getItem("nearfar-theme"); } catch (error) { /* not available for some local files */ }
  if (theme !== "dark" && theme !== "light") {
    theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  }
  document.documentElement.dataset.theme = theme;
})();
