// Colours and language are set before the first paint; the rest of the page loads as modules.

(() => {
  const kept = (name) => {
    try {
      return localStorage.getItem(name);
    } catch {
      return null;
    }
  };
  const root = document.documentElement;
  const theme = kept("theme");
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  const language = kept("language");
  root.lang = language === "de" || language === "en" ? language : navigator.language.toLowerCase().startsWith("de") ? "de" : "en";
})();
