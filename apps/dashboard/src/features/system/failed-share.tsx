/** How much of it fails, and whose, in a line: one agent alone is named, and a click away. */

import { Link } from '@tanstack/react-router';
import type { UpstreamHealth } from '#contracts';
import { withUnseen } from '../../ui';
import { shareText } from './upstream-texts';

export function FailedShare({ upstream }: { upstream: UpstreamHealth }) {
  const { failed_count, failed_agent_id: agentId } = upstream;
  return (
    <>
      {shareText(upstream)}
      {failed_count > 0 && agentId !== null ? (
        <>
          {' '}
          <Link to="/agents/$agentId" params={{ agentId }} className="font-medium underline">
            <bdi>{withUnseen(agentId)}</bdi>
          </Link>
        </>
      ) : null}
    </>
  );
}
