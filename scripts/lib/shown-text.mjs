/**
 * What strangers wrote, fit for a terminal: a sign that would move its cursor, end the line or turn text about is shown as its
 * code, `\u{1b}`. Otherwise a file could rewrite what was said about it.
 *
 * @param {string} text
 * @returns {string} one line
 */
export const shownText = (text) =>
  text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`);
