/** Settings. The section is in the address, so that it can be linked to. */
import { Link, useSearch } from '@tanstack/react-router';
import {
  CircleDollarSign,
  Info,
  KeyRound,
  type LucideIcon,
  Palette,
  ScrollText,
  Server,
  SlidersHorizontal,
  Users,
} from 'lucide-react';
import { type ComponentType, type RefObject, useEffect, useRef } from 'react';
import { cx } from '../../ui';
import { ScrollSideways } from '../../ui/scroll-sideways';
import { AboutSection } from './about-section';
import { AppearanceSection } from './appearance-section';
import { AuditSection } from './audit-section';
import { ConfigSection } from './config-section';
import { KeysSection } from './keys-section';
import { OperatorsSection } from './operators-section';
import { PricesSection } from './prices-section';
import { UpstreamsSection } from './upstreams-section';

interface Section {
  id: string;
  label: string;
  lead: string;
  icon: LucideIcon;
  content: ComponentType;
  /** Its table has more columns than lines of text are wide. */
  isWide?: boolean;
}

const SECTIONS: readonly [Section, ...Section[]] = [
  {
    id: 'detection',
    label: 'Detection and control',
    lead: 'When a session counts as looping, and what becomes of a pause. In force from the next message on.',
    icon: SlidersHorizontal,
    content: ConfigSection,
  },
  {
    id: 'upstreams',
    label: 'Upstreams',
    lead: 'Where the proxy sends calls, and whose vendor key pays for them.',
    icon: Server,
    content: UpstreamsSection,
  },
  {
    id: 'prices',
    label: 'Prices',
    lead: 'In USD for a million tokens, and for a thousand searches that the vendor runs, in the web or in files. A model without a price is counted in tokens, and its cost shown as unknown.',
    icon: CircleDollarSign,
    content: PricesSection,
    isWide: true,
  },
  {
    id: 'agent-keys',
    label: 'Agent keys',
    lead: 'Agents send their DecisionLogs with one of these, and their LLM calls through the proxy.',
    icon: KeyRound,
    content: KeysSection,
  },
  {
    id: 'operators',
    label: 'Operators',
    lead: 'Who may look, who may command, who may change this.',
    icon: Users,
    content: OperatorsSection,
  },
  {
    id: 'audit',
    label: 'Audit log',
    lead: 'Every command and every change, by whom and with what outcome.',
    icon: ScrollText,
    content: AuditSection,
  },
  {
    id: 'appearance',
    label: 'Appearance',
    lead: 'For this browser only.',
    icon: Palette,
    content: AppearanceSection,
  },
  {
    id: 'about',
    label: 'About',
    lead: 'This gateway, and its interfaces.',
    icon: Info,
    content: AboutSection,
  },
];

/** On a phone the sections are one row that is wider than the screen, which may turn; letters may come later than the page. */
function useCurrentInView(nav: RefObject<HTMLElement | null>, currentId: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: another section is another link to bring into view.
  useEffect(() => {
    const row = nav.current;
    if (row === null) return;
    const observer = new ResizeObserver(() => {
      const current = row.querySelector<HTMLElement>('[aria-current]');
      const scroller = current?.parentElement;
      if (!current || !scroller) return;
      // Not scrollIntoView: Tab would go on from there.
      scroller.scrollTo({ left: current.offsetLeft - (scroller.clientWidth - current.offsetWidth) / 2 });
    });
    for (const element of [row, ...row.querySelectorAll('a')]) observer.observe(element);
    return () => observer.disconnect();
  }, [nav, currentId]);
}

export function SettingsPage() {
  const search = useSearch({ strict: false }) as { section?: unknown };
  const current = SECTIONS.find(({ id }) => id === search.section) ?? SECTIONS[0];
  const Content = current.content;
  const nav = useRef<HTMLElement>(null);
  useCurrentInView(nav, current.id);
  return (
    <div className="flex h-full max-md:flex-col">
      <nav
        ref={nav}
        aria-label="Settings"
        className="shrink-0 border-line max-md:border-b max-md:bg-surface md:w-56 md:border-r"
      >
        <ScrollSideways className="flex gap-0.5 max-md:px-2 max-md:py-1.5 md:flex-col md:p-3">
          {SECTIONS.map(({ id, label, icon: Icon }) => (
            <Link
              key={id}
              to="/settings"
              search={{ section: id }}
              replace
              aria-current={id === current.id ? 'page' : undefined}
              className={cx(
                'inline-flex h-8 shrink-0 items-center gap-2 rounded-md px-2.5 font-medium whitespace-nowrap max-md:h-10',
                id === current.id ? 'bg-line/70 text-fg' : 'text-muted hover:bg-hover hover:text-fg',
              )}
            >
              <Icon size={15} aria-hidden="true" />
              {label}
            </Link>
          ))}
        </ScrollSideways>
      </nav>
      <div className="min-h-0 min-w-0 flex-1 scroll-pb-16 overflow-y-auto">
        <div className={cx('mx-auto px-4 pt-5 pb-8', current.isWide ? 'max-w-5xl' : 'max-w-4xl')}>
          <h1 className="font-semibold text-xl tracking-tight">{current.label}</h1>
          <p className="mt-0.5 mb-4 text-muted">{current.lead}</p>
          <Content key={current.id} />
        </div>
      </div>
    </div>
  );
}
