/** Agent keys: what agents send their DecisionLogs with. */
import { useState } from 'react';
import type { AgentKey } from '#contracts';
import { CodeBlock, EmptyState, Panel, Table, Td, Th } from '../../ui';
import { snippet } from '../onboarding/snippets';
import { AccessSection } from './access-section';
import { AccessStatus, LastUsed } from './access-status';
import { CreateAccess } from './create-access';
import { RevokeButton } from './revoke-button';

const QUERY_KEY = ['agent-keys'];

export function KeysSection() {
  return (
    <AccessSection<AgentKey>
      queryKey={QUERY_KEY}
      path="/v1/agent-keys"
      form={(onCreated) => (
        <CreateAccess
          onCreated={onCreated}
          title="New agent key"
          path="/v1/agent-keys"
          nameHint="Which agents will use it, such as “research fleet”."
          nameMissing="Give the key a name, so that you know later whose it is."
          submitLabel="Create key"
          testId="agent-key-create"
        />
      )}
      secretTitle="Your new agent key"
      secretTestId="agent-key-secret"
      secretHelp={(secret) => <TryIt secret={secret} />}
      list={(keys) => <KeyTable keys={keys} />}
    />
  );
}

function TryIt({ secret }: { secret: string }) {
  const [stamp] = useState(() => ({
    suffix: Math.random().toString(36).slice(2, 6),
    timestamp: new Date().toISOString(),
  }));
  const ingestUrl = `${window.location.origin}/v1/decision-logs`;
  return (
    <CodeBlock
      code={snippet('curl', { ingestUrl, agentKey: secret, ...stamp })}
      label="curl line with the new key"
    />
  );
}

function KeyTable({ keys }: { keys: readonly AgentKey[] }) {
  return (
    <Panel title="Agent keys" bodyClassName="overflow-x-auto">
      {keys.length === 0 ? (
        <EmptyState title="No agent keys yet">Create one above and give it to an agent.</EmptyState>
      ) : (
        <Table>
          <thead>
            <tr>
              <Th>Name</Th>
              <Th className="max-md:hidden">Key</Th>
              <Th className="max-md:hidden">Created by</Th>
              <Th className="max-md:hidden">Last used</Th>
              <Th>Status</Th>
              <Th>
                <span className="sr-only">Actions</span>
              </Th>
            </tr>
          </thead>
          <tbody>
            {keys.map((key) => (
              <tr key={key.key_id} className={key.revoked_at_ms === null ? '' : 'text-muted'}>
                <Td className="max-w-40 truncate font-medium" title={key.name}>
                  {key.name}
                  {key.tenant_ids ? (
                    <span
                      className="block truncate font-normal text-muted text-xs"
                      title={key.tenant_ids.join(', ')}
                    >
                      for {key.tenant_ids.join(', ')}
                    </span>
                  ) : null}
                </Td>
                <Td className="font-mono text-xs whitespace-nowrap max-md:hidden">{key.prefix}…</Td>
                <Td className="max-md:hidden">{key.created_by}</Td>
                <Td className="max-md:hidden whitespace-nowrap">
                  <LastUsed atMs={key.last_used_at_ms} />
                </Td>
                <Td>
                  <AccessStatus revokedAtMs={key.revoked_at_ms} />
                </Td>
                <Td className="text-right">
                  {key.revoked_at_ms === null ? (
                    <RevokeButton
                      name={key.name}
                      path={`/v1/agent-keys/${encodeURIComponent(key.key_id)}`}
                      listKey={QUERY_KEY}
                      consequence="Agents with this key are refused from this moment on, open sockets included. It cannot be undone."
                      confirmLabel="Revoke key"
                      confirmTestId="agent-key-revoke"
                    />
                  ) : null}
                </Td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
    </Panel>
  );
}
