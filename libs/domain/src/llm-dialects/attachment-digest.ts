/** Images, audio and files count as content by what they are, and are never kept or compared whole. */
import { hash } from 'node:crypto';
import { DIALECT_LIMITS } from './dialect-limits.js';

const DIGEST_CHARS = 32;
const SAMPLE_COUNT = 128;
const SAMPLE_CHARS = 128;
const END_CHARS = 8 * 1024;

/**
 * 128 bits of SHA-256 in hex, over a URL, a file id or base64 content. Of long content (above
 * `digestWholeCharsMax`) it covers the length, both ends and samples spread evenly between them: hashing 20 MB
 * of screenshot whole takes 130 ms on a slow core, this at most half a millisecond. What is compressed or carries
 * a checksum at its end differs in those samples when it differs at all.
 */
export function attachmentDigest(content: string): string {
  return hash('sha256', sampleOf(content)).slice(0, DIGEST_CHARS);
}

function sampleOf(content: string): string {
  const { length } = content;
  if (length <= DIALECT_LIMITS.digestWholeCharsMax) return content;
  const samples = [`${length}:`, content.slice(0, END_CHARS)];
  const stride = (length - 2 * END_CHARS - SAMPLE_CHARS) / SAMPLE_COUNT;
  for (let index = 0; index < SAMPLE_COUNT; index++) {
    const start = END_CHARS + Math.floor(index * stride);
    samples.push(content.slice(start, start + SAMPLE_CHARS));
  }
  samples.push(content.slice(-END_CHARS));
  return samples.join('');
}
