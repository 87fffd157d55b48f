/**
 * A browser that was started without a locale, as by a service for a screen on the wall, calls its language "C" or
 * "en-US@posix". Intl refuses such names, and with it the charts' library, which asks for the browser's language as it is
 * loaded: every page with a chart failed.
 */

/** Has the browser say English where what it says is no language. To be called before a chart is loaded. */
export function haveLanguage(): void {
  try {
    Intl.getCanonicalLocales(navigator.language);
  } catch {
    Object.defineProperty(navigator, 'language', { value: 'en-US' });
  }
}
