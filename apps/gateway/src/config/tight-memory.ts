/** A heap that outgrows its container: the kernel then ends the process without a word, where the gateway would have refused. */

const MEBIBYTE = 1024 ** 2;
/** Of the container, for the heap. The rest is for database pages, bodies and the sidecar. */
const HEAP_SHARE_MAX = 3 / 4;

/** @param memoryBytes what the container may have; 0: not known @returns a sentence to be logged; null: it fits */
export function tightMemory(heapBytesMax: number, memoryBytes: number): string | null {
  if (memoryBytes === 0 || heapBytesMax <= memoryBytes * HEAP_SHARE_MAX) return null;
  const mib = (bytes: number) => `${Math.round(bytes / MEBIBYTE)} MiB`;
  return (
    `the heap may grow to ${mib(heapBytesMax)}, and this container may have ${mib(memoryBytes)} in all: ` +
    'under load the system will end this process. Give the container more: 2 GiB are recommended'
  );
}
