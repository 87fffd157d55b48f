/** Seals secrets that must be kept: upstream keys, signing secrets, passwords. */
export interface SecretBox {
  /** Different text every time. */
  seal(text: string): string;
  /** @throws Error, without the text, for what was sealed with another key or changed since */
  open(sealed: string): string;
}
