/**
 * Text to the rows of the static embedder's table: the input of its model. The same text gives the same ids, whatever
 * was asked before; what is remembered is only what words hash to.
 *
 * @see models/observatory-static-384/features.md
 */
import { bucketOf, hashBytes, PAIRS, STATIC_BUCKET_COUNT, WORDS } from './static-buckets.js';
import { DIGIT, HAN, SEPARATOR } from './static-characters.js';
import { type TokenClass, tokeniseForStatic } from './static-tokens.js';
import { printWord, type WordPrint } from './word-print.js';

/** Words remembered, over both generations; about half a kilobyte each. */
const WORDS_REMEMBERED_MAX = 16_384;
/** Longer words are rare, and would make the bound on their count no bound on memory. */
const REMEMBERED_CHARS_MAX = 32;

export class StaticFeaturiser {
  readonly #generationCountMax: number;
  /** When `#young` is full it becomes `#old`, and what `#old` held is forgotten; a word met again is young again. */
  #young = new Map<string, WordPrint>();
  #old = new Map<string, WordPrint>();
  /** One bit a row: ids come out sorted and once each without sorting. All zero between calls. */
  readonly #bits = new Uint32Array(Math.ceil(STATIC_BUCKET_COUNT / 32));

  constructor({ wordsRememberedMax = WORDS_REMEMBERED_MAX }: { wordsRememberedMax?: number } = {}) {
    this.#generationCountMax = Math.max(1, Math.floor(wordsRememberedMax / 2));
  }

  /** Words remembered now. */
  get rememberedCount(): number {
    return this.#young.size + this.#old.size;
  }

  /**
   * Ascending, each id once, all below `STATIC_BUCKET_COUNT`; none for a text without a word or a sign. Never throws.
   * Cost: 10 to 15 us for 8 words, about 100 us for 128, less when the words are known.
   */
  features(text: string): Int32Array {
    const { words, classes } = tokeniseForStatic(text);
    let before: WordPrint | null = null;
    let beforeClass: TokenClass = SEPARATOR;
    for (let at = 0; at < words.length; at += 1) {
      const kind = classes[at] as TokenClass;
      if (kind === SEPARATOR) {
        before = null;
        continue;
      }
      const word = this.#printOf(words[at] as string, kind);
      for (const id of word.ids) this.#add(id);
      if (before !== null) this.#addPair(before, word, kind === HAN && beforeClass === HAN);
      before = word;
      beforeClass = kind;
    }
    return this.#take();
  }

  /** Two Chinese characters are hashed as the word they may be; other neighbours as a pair. */
  #addPair(before: WordPrint, word: WordPrint, areHan: boolean): void {
    if (areHan) {
      this.#add(bucketOf(WORDS, hashBytes(before.wState, word.bytes)));
      this.#add(bucketOf(WORDS, hashBytes(before.xState, word.bytes)));
    } else this.#add(bucketOf(PAIRS, hashBytes(before.pairState, word.bytes)));
  }

  #printOf(word: string, kind: TokenClass): WordPrint {
    // Numbers have no n-grams, so they cost little, and there is no end of them.
    if (kind === DIGIT || word.length > REMEMBERED_CHARS_MAX) return printWord(word, kind);
    const young = this.#young.get(word);
    if (young !== undefined) return young;
    const print = this.#old.get(word) ?? printWord(word, kind);
    if (this.#young.size >= this.#generationCountMax) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(copyOf(word), print);
    return print;
  }

  #add(id: number): void {
    const slot = id >>> 5;
    this.#bits[slot] = (this.#bits[slot] as number) | (1 << (id & 31));
  }

  /** Reads the bits out, and clears them. */
  #take(): Int32Array {
    const ids: number[] = [];
    for (let slot = 0; slot < this.#bits.length; slot += 1) {
      let bits = this.#bits[slot] as number;
      if (bits === 0) continue;
      this.#bits[slot] = 0;
      while (bits !== 0) {
        const bit = 31 - Math.clz32(bits & -bits);
        ids.push(slot * 32 + bit);
        bits &= bits - 1;
      }
    }
    return Int32Array.from(ids);
  }
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A piece of a text may hold on to the whole text for as long as it lives; a copy does not. */
const copyOf = (word: string): string => decoder.decode(encoder.encode(word));
