/** @returns where a text may be cut: at `end`, or one UTF-16 unit before it where that would part a pair of surrogates */
export function wholeEnd(text: string, end: number): number {
  const before = text.charCodeAt(end - 1);
  return end < text.length && before >= 0xd800 && before <= 0xdbff ? end - 1 : end;
}
