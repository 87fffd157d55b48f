/**
 * The design system. Import from here: `import { Button, Panel } from '../../ui'`.
 *
 * Colours (Tailwind names, right in both themes; defined in styles.css):
 *   grounds  bg-canvas bg-surface bg-raised bg-sunken bg-hover bg-selected     lines  border-line border-line-strong
 *   text     text-fg text-muted text-faint                                     interactive  accent
 *   meaning  danger (loop, failure)  warning (repeating)  success  paused (a person holds it), each with -soft, some -line -solid
 * Node states have the colours of contracts' NODE_COLOURS: `StateDot`, `nodeColour`.
 * Sizes: text-2xs 11, text-xs 12, text-base 13 (default), text-md 14, text-lg 16, text-xl 20. Numbers: add `nums`.
 * Motion: `flashes` (what loops), `motion-safe:animate-shimmer`. Breakpoint phone/desktop: `md`.
 *
 * Rules: a forbidden action is a Button with `disabledReason`, never a dead or missing one; failures are shown inline
 * with Callout tone="danger" alert; loading is Skeleton, never a spinner; relative times are RelativeTime.
 */
export * from './address';
export * from './badge';
export * from './button';
export * from './callout';
export * from './code-block';
export * from './confirm-dialog';
export * from './copy-button';
export * from './count-bars';
export * from './cut-middle';
export * from './cx';
export * from './dialog';
export * from './empty-state';
export * from './facts';
export * from './field';
export * from './figures';
export * from './filter-chip';
export * from './flash';
export * from './focus-at-once';
export * from './format';
export * from './grid';
export * from './identifier';
export * from './kbd';
export * from './list-foot';
export * from './logo';
export * from './meter';
export * from './new-pill';
export * from './now';
export * from './offered-options';
export * from './panel';
export * from './partial-cost';
export * from './relative-time';
export * from './save-bar';
export * from './select';
export * from './severity-labels';
export * from './since-note';
export * from './skeleton';
export * from './skip-button';
export * from './state-dot';
export * from './step-rate';
export * from './switch';
export * from './table';
export * from './tabs';
export * from './toast';
export * from './tooltip';
export * from './unit-input';
export * from './use-focus-first-error';
export * from './use-is-phone';
export * from './use-overscan';
export * from './use-pointing';
export * from './use-rested';
export * from './use-throttled';
export * from './use-waits-for';
