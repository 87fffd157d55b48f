/** Keys or operators, and whether each still opens anything: what their tables have in common. */
import type { ComponentProps, ReactNode } from 'react';
import type { AgentKey } from '#contracts';
import { ActionsTh, Badge, formatExact, RelativeTime, Table, Td, Th } from '../../ui';
import { RevokeButton } from './revoke-button';

/** @param heads between the name and when it was used last */
export const AccessTable = ({ heads, children }: { heads: ReactNode; children: ReactNode }) => (
  <Table>
    <thead>
      <tr>
        <Th>Name</Th>
        {heads}
        <Th className="max-md:hidden">Last used</Th>
        <Th>Status</Th>
        <ActionsTh />
      </tr>
    </thead>
    <tbody>{children}</tbody>
  </Table>
);

interface AccessRowProps extends Omit<ComponentProps<typeof RevokeButton>, 'name' | 'prefix'> {
  access: Pick<AgentKey, 'name' | 'prefix' | 'last_used_at_ms' | 'revoked_at_ms'>;
  nameClassName: string;
  /** Below the name. */
  note: ReactNode;
  /** Cells below `heads`. */
  children: ReactNode;
}

export function AccessRow({ access, nameClassName, note, children, ...revoke }: AccessRowProps) {
  const { name, prefix, last_used_at_ms: usedAtMs, revoked_at_ms: revokedAtMs } = access;
  const used = usedAtMs === null ? null : <RelativeTime atMs={usedAtMs} />;
  return (
    <tr className={revokedAtMs === null ? '' : 'text-muted'}>
      <Td className={`${nameClassName} truncate font-medium`} title={name}>
        {name}
        <span className="block font-mono font-normal text-muted text-xs md:hidden">{prefix}…</span>
        {note}
        <PhoneLine>{used === null ? 'Never used' : <>Used {used}</>}</PhoneLine>
      </Td>
      {children}
      <Td className="whitespace-nowrap max-md:hidden">{used ?? <span className="text-muted">Never</span>}</Td>
      <Td>
        {revokedAtMs === null ? (
          <Badge tone="success">Active</Badge>
        ) : (
          <Badge title={`Revoked ${formatExact(revokedAtMs)}`}>Revoked</Badge>
        )}
      </Td>
      <Td className="text-right">
        {revokedAtMs === null ? <RevokeButton name={name} prefix={prefix} {...revoke} /> : null}
      </Td>
    </tr>
  );
}

/** What a phone has no column for, below the name. */
export const PhoneLine = ({ children }: { children: ReactNode }) => (
  <span className="block whitespace-normal font-normal text-muted text-xs [overflow-wrap:anywhere] md:hidden">
    {children}
  </span>
);

export const PrefixCell = ({ prefix }: { prefix: string }) => (
  <Td className="font-mono text-xs whitespace-nowrap max-md:hidden">{prefix}…</Td>
);
