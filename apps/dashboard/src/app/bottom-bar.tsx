/** Navigation on a phone, within reach of one thumb. */
import { Link } from '@tanstack/react-router';
import { LoopCount } from './loop-count';
import { PLACES } from './navigation';

export function BottomBar() {
  return (
    <nav
      aria-label="Main"
      className="flex shrink-0 border-line border-t bg-surface pb-[env(safe-area-inset-bottom)] md:hidden"
    >
      {PLACES.map(({ to, label, icon: Icon }) => (
        <Link
          key={to}
          to={to}
          activeOptions={{ exact: to === '/', includeSearch: false }}
          className="relative flex h-14 flex-1 flex-col items-center justify-center gap-0.5 text-2xs text-muted data-[status=active]:font-semibold data-[status=active]:text-accent"
        >
          <Icon size={19} aria-hidden="true" />
          {label}
          {to === '/' ? <LoopCount className="absolute top-1 left-1/2 ml-2" /> : null}
        </Link>
      ))}
    </nav>
  );
}
