/** Keys of a shortcut, spelled as in the key map: parts separated by spaces, `mod` for Ctrl or Command. */
const isApple = typeof navigator !== 'undefined' && /Mac|iPhone|iPad/.test(navigator.userAgent);

const glyphs: Record<string, string> = {
  mod: isApple ? '⌘' : 'Ctrl',
  enter: '↵',
  esc: 'Esc',
  shift: '⇧',
};

export function Kbd({ keys }: { keys: string }) {
  return (
    <span className="inline-flex items-center gap-0.5">
      {keys.split(/[ +]/).map((key, index) => (
        <kbd
          // biome-ignore lint/suspicious/noArrayIndexKey: a fixed sequence; the same key may occur twice.
          key={index}
          className="inline-flex h-[18px] min-w-[18px] items-center justify-center rounded border border-line-strong bg-sunken px-1 font-sans text-2xs text-muted"
        >
          {glyphs[key] ?? key.toUpperCase()}
        </kbd>
      ))}
    </span>
  );
}
