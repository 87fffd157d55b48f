/**
 * Beside each session's control, the agents that asked for a person in its pause: what they asked with may stand behind any
 * number of messages that are held. Database version 8. Of an older one they are looked for once, in all that is held.
 */
import type { Database } from 'better-sqlite3';

/** As many as a session names. */
const ASKERS_MAX = 20;

export function controlAskers(database: Database): void {
  database.exec(`
    ALTER TABLE controls ADD COLUMN asked_by TEXT NOT NULL DEFAULT '[]';
    UPDATE controls SET asked_by = (
      SELECT json_group_array(agent_id) FROM (
        SELECT agent_id FROM steps
        WHERE steps.tenant_id = controls.tenant_id AND steps.session_id = controls.session_id AND held = 1
          AND CASE WHEN json_valid(body) THEN json_extract(body, '$.control.hitl_required') ELSE 0 END
        GROUP BY agent_id ORDER BY min(seq) LIMIT ${ASKERS_MAX}
      )
    )
    WHERE state IN ('pause_requested', 'paused');
  `);
}
