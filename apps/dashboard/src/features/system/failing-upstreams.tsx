/** Above what its failures show in: agents that fail all at once have one cause. Draws nothing while every vendor takes calls. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { TriangleAlert } from 'lucide-react';
import { failingUpstreams, systemQuery } from '../../api';
import { Callout } from '../../ui';
import { failureText, shareText } from './upstream-texts';

export function FailingUpstreams({ className }: { className?: string }) {
  const { data } = useQuery(systemQuery);
  const failing = data ? failingUpstreams(data.view) : [];
  if (failing.length === 0) return null;
  return (
    <Callout
      tone="danger"
      icon={<TriangleAlert size={14} aria-hidden="true" />}
      {...(className && { className })}
    >
      <div role="status">
        {failing.map((upstream) => (
          <p key={upstream.name} className="nums [overflow-wrap:anywhere]">
            <span className="font-semibold">{upstream.name} is failing</span>: {shareText(upstream)}
            {upstream.last_failure ? `: ${failureText(upstream.last_failure)}` : '.'}
          </p>
        ))}
        <Link to="/system" className="font-medium underline">
          Since when, and what to do
        </Link>
      </div>
    </Callout>
  );
}
