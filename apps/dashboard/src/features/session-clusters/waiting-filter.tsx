/** "2 wait for a person": shows only those. Draws nothing where none does. */
import { getRouteApi } from '@tanstack/react-router';
import { UserRound } from 'lucide-react';
import { useWaitingCount } from '../../app/waiting';
import { cx, plural } from '../../ui';
import { useSetListSearch } from './use-set-list-search';

const route = getRouteApi('/shell/');

export function WaitingFilter() {
  const isOn = route.useSearch().control === 'waiting';
  const set = useSetListSearch();
  const count = useWaitingCount();
  if (count === 0) return null;
  return (
    <button
      type="button"
      aria-pressed={isOn}
      onClick={() => set({ control: isOn ? undefined : 'waiting' })}
      className={cx(
        'inline-flex h-7 shrink-0 items-center gap-1.5 rounded-md border px-2 font-medium text-xs whitespace-nowrap max-md:h-10',
        isOn
          ? 'border-transparent bg-paused-solid text-white'
          : 'border-paused-line bg-paused-soft text-paused',
      )}
    >
      <UserRound size={13} aria-hidden="true" />
      <span className="nums">{plural(count, 'waits', 'wait')} for a person</span>
    </button>
  );
}
