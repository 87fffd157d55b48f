/** Navigation on a phone, within reach of one thumb: the first places, and the others behind "More". */
import { Link, useRouterState } from '@tanstack/react-router';
import { Ellipsis, LogOut } from 'lucide-react';
import { useState } from 'react';
import { Button, cx, Dialog } from '../ui';
import { useLogout } from './auth';
import { FailingCount } from './failing-count';
import { PLACES } from './navigation';
import { PlaceCount } from './place-count';
import { WhoAmI } from './sidebar';

const FIRST = PLACES.filter(({ isFirst }) => isFirst);
const REST = PLACES.filter(({ isFirst }) => !isFirst);

const itemClass =
  'relative flex h-14 flex-1 flex-col items-center justify-center gap-0.5 text-2xs text-muted data-[status=active]:font-semibold data-[status=active]:text-accent';

export function BottomBar() {
  return (
    <nav
      aria-label="Main"
      className="flex shrink-0 border-line border-t bg-surface pb-[env(safe-area-inset-bottom)] md:hidden print:hidden"
    >
      {FIRST.map(({ to, label, icon: Icon }) => (
        <Link
          key={to}
          to={to}
          activeOptions={{ exact: to === '/', includeSearch: false }}
          className={itemClass}
        >
          <Icon size={19} aria-hidden="true" />
          {label}
          {/* A second number stands left of the icon: beside the first it would be the neighbour's. Neither lies on the icon. */}
          <PlaceCount
            to={to}
            className="absolute top-1 left-1/2 ml-[9px] [&>:nth-child(2)]:absolute [&>:nth-child(2)]:right-full [&>:nth-child(2)]:mr-[18px]"
          />
        </Link>
      ))}
      <More />
    </nav>
  );
}

function More() {
  const [isOpen, setIsOpen] = useState(false);
  const logout = useLogout();
  const isHere = useRouterState({
    select: ({ location }) => REST.some(({ to }) => location.pathname.startsWith(to)),
  });
  return (
    <>
      <button
        type="button"
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        data-status={isHere ? 'active' : undefined}
        onClick={() => setIsOpen(true)}
        className={itemClass}
      >
        <Ellipsis size={19} aria-hidden="true" />
        More
        <FailingCount at={['/alerts', '/system']} className="absolute top-1 left-1/2 ml-[9px]" />
      </button>
      <Dialog open={isOpen} onOpenChange={setIsOpen} title="More">
        <ul className="grid grid-cols-2 gap-2 pb-2">
          {REST.map(({ to, label, icon: Icon }) => (
            <li key={to}>
              <Link
                to={to}
                activeOptions={{ includeSearch: false }}
                onClick={() => setIsOpen(false)}
                className={cx(
                  'flex h-12 items-center gap-2.5 rounded-lg border border-line bg-surface px-3 font-medium text-md',
                  'data-[status=active]:border-accent data-[status=active]:text-accent',
                )}
              >
                <Icon size={17} aria-hidden="true" />
                {label}
                <PlaceCount to={to} className="ml-auto" />
              </Link>
            </li>
          ))}
        </ul>
        <div className="flex items-center justify-between gap-3 border-line border-t pt-2 pb-1">
          <WhoAmI />
          <Button className="h-11" icon={<LogOut size={15} aria-hidden="true" />} onClick={logout}>
            Sign out
          </Button>
        </div>
      </Dialog>
    </>
  );
}
