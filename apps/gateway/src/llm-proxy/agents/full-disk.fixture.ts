/** A store whose disk has no room left, not even for what operators do. */
import type { SqliteStore } from '#adapters/sqlite';
import { buildAuditDraft, buildStepRow } from '#testing';

const filler = 'x'.repeat(3_000);

export async function fillDisk(store: SqliteStore): Promise<void> {
  const steps = () =>
    store.appendSteps(Array.from({ length: 5 }, () => buildStepRow({ body: JSON.stringify({ filler }) })));
  const command = (detail: Record<string, unknown>) => () =>
    store.commitControl({ audit: [buildAuditDraft({ tenant_id: 'filler', detail })] });
  for (const write of [steps, command({ filler }), command({})])
    while (
      await write().then(
        () => true,
        () => false,
      )
    );
}
