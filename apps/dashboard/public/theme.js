// Runs before the first paint so that no wrong theme flashes. A file of its own: the page's
// content security policy allows no inline script. Keep in step with src/app/theme.ts.
(() => {
  let choice = 'system';
  try {
    choice = localStorage.getItem('observatory.theme') ?? 'system';
  } catch {
    // Storage is switched off: follow the system.
  }
  const dark = choice === 'system' ? matchMedia('(prefers-color-scheme: dark)').matches : choice === 'dark';
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
})();
