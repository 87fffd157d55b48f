/** All agents taken together, above the list of each: what they spend, what limits them as one, and the stop of all. */
import { Ban } from 'lucide-react';
import type { AllAgentsView } from '#contracts';
import { useDenial } from '../../api';
import { TextLink } from '../../app/text-link';
import { cx } from '../../ui';
import { BUDGET_SPANS, SpendBar } from './agent-meters';
import { AllStoppedBy } from './all-stopped-by';
import { StopAllButton } from './deactivate-button';
import { policySummary } from './policy-summary';
import { LetAllRunButton } from './reactivate-button';

export function AllAgentsStrip({ view }: { view: AllAgentsView }) {
  const { policy } = view;
  const summary = policySummary(policy);
  const mayOnlyLook = useDenial('configure') !== null;
  return (
    <section
      aria-label="All agents together"
      data-testid="all-agents"
      data-state={policy.active ? 'active' : 'inactive'}
      className={cx(
        'flex flex-wrap items-center gap-x-5 gap-y-2 border-line border-b px-3 py-2',
        policy.active ? 'bg-sunken' : 'bg-danger-soft',
      )}
    >
      <div className={cx('min-w-0 flex-1', !policy.active && 'max-md:basis-full')}>
        <p
          role="status"
          className={cx('min-w-0', !policy.active && 'line-clamp-3 text-danger [overflow-wrap:anywhere]')}
        >
          {policy.active ? (
            <span className="font-medium">All agents together</span>
          ) : (
            <>
              <Ban size={13} aria-hidden="true" className="-mt-0.5 mr-1.5 inline" />
              <AllStoppedBy view={view} />
            </>
          )}
        </p>
        <p className="flex min-w-0 gap-2 text-2xs text-muted">
          {summary === '' ? null : (
            <span title={summary} className="nums truncate">
              {summary}
            </span>
          )}
          <TextLink to="/all-agents">
            {mayOnlyLook || hasLimits(view, summary) ? 'Limits' : 'Set limits for all'}
          </TextLink>
        </p>
      </div>
      <div className="flex gap-5 max-md:order-last max-md:basis-full">
        {BUDGET_SPANS.map((span) => (
          <div
            key={span}
            className={cx('w-28 max-md:w-auto max-md:flex-1', span === 'hour' && 'max-lg:hidden')}
          >
            <SpendBar agent={view} span={span} withName />
          </div>
        ))}
      </div>
      <div className={cx(!policy.active && 'max-md:basis-full')}>
        <StopAllButton
          whenStopped={policy.active ? null : <LetAllRunButton />}
          isStored={view.is_stop_stored}
        />
      </div>
    </section>
  );
}

const hasLimits = ({ spend }: AllAgentsView, summary: string): boolean =>
  summary !== '' || BUDGET_SPANS.some((span) => spend[span].budget_usd !== null);
