/**
 * Stands in for zod in the browser's bundle (see vite.config.ts). The dashboard uses the contracts' types and constants
 * and trusts what its own gateway sends, so the schemas are never run there; zod itself would cost 25 kB and probes for
 * `eval`, which the content security policy reports as an error. Any call that builds a schema gives this object again;
 * one that would check a value throws, lest it pass unchecked.
 */
const CHECKS = new Set<string | symbol>([
  'parse',
  'safeParse',
  'parseAsync',
  'safeParseAsync',
  'decode',
  'encode',
]);

export const z: unknown = new Proxy(() => undefined, {
  get(_target, member) {
    if (CHECKS.has(member)) {
      throw new Error(`zod is left out of the dashboard's bundle: ${String(member)} cannot run here`);
    }
    return member === Symbol.toPrimitive ? () => 'zod-left-out' : z;
  },
  apply: () => z,
});
