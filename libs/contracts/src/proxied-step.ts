/** Steps that the proxy makes of its calls: how they are known, and what of them is compared. */

/** `meta.source_app` of the steps that the proxy makes of its calls. */
export const PROXY_SOURCE = 'observatory-proxy';

const PROXIED_INTENT_CHARS_MAX = 120;

/** What the intent of such a step, which is what was asked, is compared by: questions that differ in their numbers alone are one. */
export const comparedIntent = (intent: string): string =>
  intent.replace(/\d+/g, '#').slice(0, PROXIED_INTENT_CHARS_MAX);
