/**
 * Every bound on what a stranger may send, by name. Reaching one answers a catalogue error that
 * names the limit; nothing is cut silently.
 */
export const LIMITS = {
  /** Request body as it arrives, before inflation. */
  bodyBytesMax: 10 * 1024 * 1024,
  /** Request body after gzip, deflate or br is undone. */
  inflatedBytesMax: 32 * 1024 * 1024,
  /** Bodies of DecisionLogs that are being read or worked on, inflated, over all senders; one tenant gets half. */
  inflightBytesMax: 256 * 1024 * 1024,
  /**
   * What a connection of Socket.IO may have sent of a message that is not whole yet before its bytes count among those
   * above; who is not let in yet may send no more than this.
   */
  partialMessageBytesFree: 16 * 1024,
  /** Connections of Socket.IO that are in no namespace, of some 9 KB each; beyond it the oldest is cut. */
  strangerConnectionsMax: 5_000,
  /** Packets of Engine.IO in one body of polling: all of them are read in one turn. */
  packetsPerBodyMax: 10_000,
  /** A sender gets this long to deliver its whole body. */
  bodyTimeoutMs: 10_000,
  /** DecisionLogs in one array or NDJSON body. */
  batchCountMax: 5_000,
  /** JSON values in one request, 100 for each log of a full batch: what is small in bytes may be large to whatever walks over it. */
  jsonValuesMax: 500_000,
  /** The same of a body that an operator sends, or whoever logs in. */
  apiJsonValuesMax: 100_000,
  /**
   * Different names of members in one request: to learn each takes the engine up to 5 us, more than the value under it. Requests of agents
   * have some hundreds; names that repeat count once, however many tools there are.
   */
  jsonNamesMax: 20_000,
  /** Body of a request to the API whose sender is not known yet, or not at all. */
  strangerBodyBytesMax: 16 * 1024,
  /** Nesting of objects and arrays inside one DecisionLog, and in a body of the API. */
  jsonDepthMax: 64,
  /** Rows in the snapshot of `gateway:sessions`. */
  listedSessionsMax: 10_000,
  /** Agents in `GET /v1/agents` and in the snapshot of `gateway:agents`. */
  listedAgentsMax: 2_000,
  /** Agents that are named of those for which an alert rule fires. */
  firingAgentsMax: 100,
  /** Audit entries in the snapshot of a session's topic. */
  sessionAuditEntriesMax: 100,
  /** Lines of `GET /v1/spend`. */
  spendLinesMax: 1_000,
  /** Identifiers: trace, session, agent, cluster, parent step. */
  idCharsMax: 256,
  /** `cognition.intent`, `action.tool_call` and other one-line texts. */
  lineCharsMax: 4_096,
  /** Summaries and single reasoning steps. */
  textCharsMax: 65_536,
  /** Elements of `reasoning_chain` and `added_to_memory`. */
  listCountMax: 1_000,
  /** Directives waiting for one session; the next command is refused until some are taken. */
  directivesPerSessionMax: 100,
  /**
   * Sessions of one tenant under control by pauses nobody commanded: `hitl_required`, or a policy. The next such pause
   * is refused until operators resume or terminate some.
   */
  systemPausesPerTenantMax: 10_000,
  /** Longest `wait_s` of a control poll. */
  pollWaitSecondsMax: 55,
  /** Control polls hanging and proxied calls held at once, over all sessions; one tenant gets half. */
  pollsHangingMax: 20_000,
  /** Rows in one page of a listing. */
  pageRowsMax: 500,
  /** A cursor holds the id of a page's last row: `idCharsMax` characters of any script. */
  cursorCharsMax: 4_096,
} as const;
