/** Free-text search of a list. `/` goes there; Enter leaves it for the list, Escape empties it, then leaves it. */
import { Search } from 'lucide-react';
import { useCallback, useEffect, useRef, useState } from 'react';
import { cx, Input, Kbd } from '../ui';
import { useShortcut } from './keyboard/use-shortcut';

/** What is typed reaches the address after a pause, or with Enter, so that history and list are not flooded. */
const TYPING_MS = 120;

interface SearchBoxProps {
  /** Accessible name. */
  label: string;
  placeholder: string;
  value: string;
  onChange: (value: string) => void;
  /** Its place, instead of the usual one: all of a phone's width. */
  className?: string;
}

const PLACE = 'min-w-48 max-w-80 flex-1 max-md:w-full max-md:max-w-none max-md:basis-full';

export function SearchBox({ label, placeholder, value, onChange, className = PLACE }: SearchBoxProps) {
  const ref = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(value);
  const sent = useRef(value);
  const latestOnChange = useRef(onChange);
  latestOnChange.current = onChange;
  useShortcut('search', () => ref.current?.focus());
  useEffect(() => {
    if (value !== sent.current) {
      sent.current = value;
      setText(value);
    }
  }, [value]);
  const send = useCallback(() => {
    if (text === sent.current) return;
    sent.current = text;
    latestOnChange.current(text);
  }, [text]);
  useEffect(() => {
    const timer = setTimeout(send, TYPING_MS);
    return () => clearTimeout(timer);
  }, [send]);
  return (
    <div className={cx('relative', className)}>
      <Search
        size={14}
        aria-hidden="true"
        className="pointer-events-none absolute top-1/2 left-2.5 -translate-y-1/2 text-faint"
      />
      <Input
        ref={ref}
        type="search"
        aria-label={label}
        placeholder={placeholder}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          // The next key may open what was found.
          if (event.key === 'Enter') send();
          if (event.key === 'Escape' && text) setText('');
          else if (event.key === 'Escape' || event.key === 'Enter') ref.current?.blur();
        }}
        className="pr-8 pl-8"
      />
      {text ? null : (
        <span className="pointer-events-none absolute top-1/2 right-2 -translate-y-1/2 max-md:hidden">
          <Kbd keys="/" />
        </span>
      )}
    </div>
  );
}
