/** What a part of a URL means; null where a % stands for nothing. Never throws. */
export function percentDecoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
