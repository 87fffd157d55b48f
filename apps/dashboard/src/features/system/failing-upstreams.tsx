/** Above what its failures show in: agents that fail all at once have one cause. Draws nothing while every vendor takes calls. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { TriangleAlert } from 'lucide-react';
import { failingUpstreams, systemQuery } from '../../api';
import { Callout } from '../../ui';
import { plural } from '../../ui/format';
import { FailedShare } from './failed-share';
import { failureText } from './upstream-texts';

/** More would push the agents off a phone. */
const SHOWN_MAX = 3;

export function FailingUpstreams({ className }: { className?: string }) {
  // An answer of another shape costs this notice, and not the page below it.
  const { data: failing = [] } = useQuery({ ...systemQuery, select: ({ view }) => failingUpstreams(view) });
  if (failing.length === 0) return null;
  const byReach = failing.toSorted((a, b) => b.failed_agent_count - a.failed_agent_count);
  return (
    <Callout
      tone="danger"
      icon={<TriangleAlert size={14} aria-hidden="true" />}
      {...(className && { className })}
    >
      <div role="status">
        {byReach.slice(0, SHOWN_MAX).map((upstream) => (
          <p key={upstream.name} className="nums [overflow-wrap:anywhere]">
            <span className="font-semibold">{upstream.name} is failing</span>:{' '}
            <FailedShare upstream={upstream} />
            {upstream.last_failure ? `: ${failureText(upstream.last_failure)}` : '.'}
          </p>
        ))}
        {failing.length > SHOWN_MAX ? (
          <p>So are {plural(failing.length - SHOWN_MAX, 'other upstream')}.</p>
        ) : null}
        <Link to="/system" className="font-medium underline">
          Since when, and what to do
        </Link>
      </div>
    </Callout>
  );
}
