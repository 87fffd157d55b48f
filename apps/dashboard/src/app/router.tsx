/** Every address of the dashboard. What is on a page (filters, sort, selection) lives in the address too. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { ApiError, onApiUnauthorized } from '../api';
import { parseAgentsSearch } from '../features/agents/agents-search';
import { parseAlertsSearch } from '../features/alerts/alerts-search';
import { parseCallsSearch } from '../features/calls/calls-search';
import { parseIncidentSearch, parseIncidentsSearch } from '../features/incidents/incidents-search';
import { parseListSearch } from '../features/session-clusters/list-search';
import { SessionClustersPage } from '../features/session-clusters/session-clusters-page';
import { parseInspectSearch } from '../features/session-inspect/inspect-search';
import { parseSpendSearch } from '../features/spend/spend-search';
import { enter, forget } from './auth';
import { rememberPaths } from './came-from';
import { RouteFailure, RouteNotFound } from './route-failure';
import { RoutePending } from './route-pending';
import { onlyParsed } from './search-values';
import { Shell } from './shell';

const rootRoute = createRootRoute({ component: Outlet, notFoundComponent: RouteNotFound });

const loginRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/login',
  /**
   * `next`: where to go afterwards, a path of ours; `undone`: something was asked for when the login had ended; `token`: from
   * the ready link printed at first start.
   */
  validateSearch: onlyParsed((search): { next?: string; undone?: true; token?: string } => ({
    ...(typeof search.next === 'string' && /^\/(?![/\\])/.test(search.next) ? { next: search.next } : {}),
    ...(search.undone ? { undone: true } : {}),
    ...(search.token === undefined ? {} : { token: String(search.token) }),
  })),
  component: lazyRouteComponent(() => import('../features/login/login-page'), 'LoginPage'),
});

const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  component: Shell,
  beforeLoad: async ({ location }) => {
    try {
      await enter();
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) throw error;
      throw redirect({ to: '/login', search: { next: location.href } });
    }
  },
});

const sessionsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  validateSearch: onlyParsed(parseListSearch),
  component: SessionClustersPage,
});

/** What is left of a session's address without its id. */
const sessionsAliasRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sessions',
  validateSearch: onlyParsed(parseListSearch),
  beforeLoad: ({ search }) => {
    throw redirect({ to: '/', search, replace: true });
  },
});

const inspectRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/sessions/$sessionId',
  validateSearch: onlyParsed(parseInspectSearch),
  component: lazyRouteComponent(() => import('../features/session-inspect/inspect-page'), 'InspectPage'),
});

const fleetRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/fleet',
  component: lazyRouteComponent(() => import('../features/fleet-topology/fleet-page'), 'FleetPage'),
});

const streamRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/stream',
  /** The stream page reads its filters from the address itself. */
  validateSearch: (search: Record<string, unknown>) => search,
  component: lazyRouteComponent(() => import('../features/decision-stream/stream-page'), 'StreamPage'),
});

const agentsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/agents',
  validateSearch: onlyParsed(parseAgentsSearch),
  component: lazyRouteComponent(() => import('../features/agents/agents-page'), 'AgentsPage'),
});

const agentRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/agents/$agentId',
  component: lazyRouteComponent(() => import('../features/agents/agent-page'), 'AgentPage'),
});

const allAgentsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/all-agents',
  component: lazyRouteComponent(() => import('../features/agents/all-agents-page'), 'AllAgentsPage'),
});

const callsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/calls',
  validateSearch: onlyParsed(parseCallsSearch),
  component: lazyRouteComponent(() => import('../features/calls/calls-page'), 'CallsPage'),
});

const callRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/calls/$callId',
  component: lazyRouteComponent(() => import('../features/calls/call-page'), 'CallPage'),
});

const incidentsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/incidents',
  validateSearch: onlyParsed(parseIncidentsSearch),
  component: lazyRouteComponent(() => import('../features/incidents/incidents-page'), 'IncidentsPage'),
});

const incidentRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/incidents/$incidentId',
  validateSearch: onlyParsed(parseIncidentSearch),
  component: lazyRouteComponent(() => import('../features/incidents/incident-page'), 'IncidentPage'),
});

const spendRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/spend',
  validateSearch: onlyParsed(parseSpendSearch),
  component: lazyRouteComponent(() => import('../features/spend/spend-page'), 'SpendPage'),
});

const cacheRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/cache',
  component: lazyRouteComponent(() => import('../features/llm-cache/cache-page'), 'CachePage'),
});

const alertsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/alerts',
  validateSearch: onlyParsed(parseAlertsSearch),
  component: lazyRouteComponent(() => import('../features/alerts/alerts-page'), 'AlertsPage'),
});

const systemRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/system',
  component: lazyRouteComponent(() => import('../features/system/system-page'), 'SystemPage'),
});

const settingsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/settings',
  validateSearch: (search: Record<string, unknown>) => search,
  component: lazyRouteComponent(() => import('../features/settings/settings-page'), 'SettingsPage'),
});

export const router = createRouter({
  routeTree: rootRoute.addChildren([
    loginRoute,
    sessionsAliasRoute,
    shellRoute.addChildren([
      sessionsRoute,
      inspectRoute,
      fleetRoute,
      streamRoute,
      agentsRoute,
      agentRoute,
      allAgentsRoute,
      callsRoute,
      callRoute,
      incidentsRoute,
      incidentRoute,
      spendRoute,
      cacheRoute,
      alertsRoute,
      systemRoute,
      settingsRoute,
    ]),
  ]),
  defaultPreload: 'intent',
  defaultErrorComponent: RouteFailure,
  defaultPendingComponent: RoutePending,
  scrollRestoration: false,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

rememberPaths(router);

onApiUnauthorized((wasAsked) => {
  forget();
  const { pathname, href } = router.state.location;
  const undone = wasAsked ? ({ undone: true } as const) : {};
  if (pathname !== '/login') void router.navigate({ to: '/login', search: { next: href, ...undone } });
  // What a page asks by itself may have been refused before what somebody asked for.
  else if (wasAsked)
    void router.navigate({ to: '/login', search: (now) => ({ ...now, ...undone }), replace: true });
});
