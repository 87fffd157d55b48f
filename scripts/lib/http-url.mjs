/** @param {string} text @returns {boolean} of `localhost:4000`, too, a URL can be made: one with the scheme localhost */
export const isHttpUrl = (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
