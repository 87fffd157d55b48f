/** Memory that is in use, for tests and benches that hold what is said of it against what it is. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { WasmMemory } from '#kernel/wasm-writer';

const PAGE_BYTES = 65_536;

/** As much of it as is used here: the types of Node leave it out. */
declare const WebAssembly: { Memory: new (size: { initial: number }) => WasmMemory };

let collectGarbage: (() => void) | null = null;
let uncountedBytes = 0;

/** Of JavaScript, buffers and WebAssembly, after a collection. What WebAssembly grew by before the first call may lack. */
export function liveBytes(): number {
  collectGarbage ??= prepare();
  collectGarbage();
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external + uncountedBytes;
}

function prepare(): () => void {
  if (!countsWebAssembly()) countGrowth();
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}

/** Node 26 leaves it out. */
function countsWebAssembly(): boolean {
  const { external } = process.memoryUsage();
  const { buffer } = new WebAssembly.Memory({ initial: 16 });
  return process.memoryUsage().external - external >= buffer.byteLength;
}

function countGrowth(): void {
  const { grow } = WebAssembly.Memory.prototype;
  WebAssembly.Memory.prototype.grow = function (this: WasmMemory, pages: number) {
    uncountedBytes += pages * PAGE_BYTES;
    return grow.call(this, pages);
  };
}
