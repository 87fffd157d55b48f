/** Every route of the gateway, in the order in which a newcomer reads them. */
import type { Route } from './route.js';
import { ACCESS_ROUTES } from './routes/access.js';
import { ALERT_ROUTES } from './routes/alerts.js';
import { AUDIT_ROUTES } from './routes/audit.js';
import { CACHE_ROUTES } from './routes/cache.js';
import { CONTROL_ROUTES } from './routes/control.js';
import { INGEST_ROUTES } from './routes/ingest.js';
import { OPERATION_ROUTES } from './routes/operation.js';
import { PROXY_ROUTES } from './routes/proxy.js';
import { SESSION_ROUTES } from './routes/sessions.js';

export const ROUTES: readonly Route[] = [
  ...INGEST_ROUTES,
  ...SESSION_ROUTES,
  ...CONTROL_ROUTES,
  ...PROXY_ROUTES,
  ...CACHE_ROUTES,
  ...ALERT_ROUTES,
  ...AUDIT_ROUTES,
  ...ACCESS_ROUTES,
  ...OPERATION_ROUTES,
];
