/** Navigation on a desktop. */
import { Link } from '@tanstack/react-router';
import { Keyboard, LogOut, Monitor, Moon, Search, Sun } from 'lucide-react';
import { useMe } from '../api';
import { cx, IconButton, Kbd, Logo } from '../ui';
import { useLogout } from './auth';
import { KEY_MAP } from './keyboard/key-map';
import { PLACE_GROUPS } from './navigation';
import { useOverlay } from './overlays';
import { PlaceCount } from './place-count';
import { ReconnectChip } from './reconnect-chip';
import { TenantChoice } from './tenant-choice';
import { useTenantIds } from './tenants';
import { THEME_CHOICES, useTheme } from './theme';

export function Sidebar() {
  const openPalette = useOverlay((state) => state.open);
  return (
    <header className="flex w-52 shrink-0 flex-col border-line border-r bg-sunken max-md:hidden print:hidden">
      <div className="flex h-12 items-center gap-2 px-4">
        <Logo className="size-5" ground="sunken" />
        <span className="font-semibold text-md tracking-tight">Observatory</span>
      </div>
      <div className="px-2 pb-2">
        <button
          type="button"
          onClick={() => openPalette('palette')}
          className="flex h-8 w-full items-center gap-2 rounded-md border border-line-strong bg-surface px-2 text-muted hover:bg-hover"
        >
          <Search size={14} aria-hidden="true" />
          Jump to
          <span className="ml-auto">
            <Kbd keys={KEY_MAP.palette.keys} />
          </span>
        </button>
      </div>
      <nav aria-label="Main" className="flex min-h-0 flex-col gap-3 overflow-y-auto px-2">
        {PLACE_GROUPS.map(({ title, places }) => (
          <div key={title} className="flex flex-col gap-0.5">
            <p className="px-2 font-medium text-2xs text-faint">{title}</p>
            {places.map(({ to, label, icon: Icon }) => (
              <Link
                key={to}
                to={to}
                activeOptions={{ exact: to === '/', includeSearch: false }}
                className="flex h-8 shrink-0 items-center gap-2 rounded-md px-2 font-medium text-muted hover:bg-hover hover:text-fg data-[status=active]:bg-line/70 data-[status=active]:text-fg"
              >
                <Icon size={15} aria-hidden="true" />
                {label}
                <PlaceCount to={to} className="ml-auto" />
              </Link>
            ))}
          </div>
        ))}
      </nav>
      <div className="mt-auto flex flex-col gap-2 p-2">
        <ReconnectChip className="self-start" />
        <Account />
      </div>
    </header>
  );
}

function Account() {
  const logout = useLogout();
  const open = useOverlay((state) => state.open);
  return (
    <div className="border-line border-t pt-2">
      <div className="flex items-center">
        <ThemeButton />
        <IconButton
          label="Keyboard shortcuts"
          shortcut="?"
          icon={<Keyboard size={15} aria-hidden="true" />}
          onClick={() => open('help')}
        />
        <IconButton
          label="Sign out"
          className="ml-auto"
          icon={<LogOut size={15} aria-hidden="true" />}
          onClick={logout}
        />
      </div>
      <WhoAmI className="px-2 pt-1 pb-1" />
    </div>
  );
}

/** "ana admin · default"; nothing until it is known. A long name leaves the role and the tenant their room. */
export function WhoAmI({ className }: { className?: string }) {
  const me = useMe();
  const tenantIds = useTenantIds();
  if (!me) return null;
  const maySwitch = tenantIds.length > 1;
  return (
    <div className={cx('flex min-w-0 flex-col gap-1', className)}>
      <p
        className="flex min-w-0 gap-1 text-xs"
        title={`${me.operator_id}, ${me.role}, tenant ${me.tenant_id}`}
      >
        <bdi className="min-w-[3ch] shrink-[1000] truncate font-medium">{me.operator_id}</bdi>{' '}
        <span className="truncate text-muted">
          {me.role} · {maySwitch ? 'tenant' : me.tenant_id}
        </span>
      </p>
      {maySwitch ? <TenantChoice tenantId={me.tenant_id} tenantIds={tenantIds} /> : null}
    </div>
  );
}

const themeIcons = { system: Monitor, light: Sun, dark: Moon } as const;

function ThemeButton() {
  const { choice, setChoice } = useTheme();
  const next = THEME_CHOICES[(THEME_CHOICES.indexOf(choice) + 1) % THEME_CHOICES.length] ?? 'system';
  const Icon = themeIcons[choice];
  return (
    <IconButton
      label={`Theme: ${choice}. Switch to ${next}`}
      icon={<Icon size={15} aria-hidden="true" />}
      onClick={() => setChoice(next)}
    />
  );
}
