/** The page's live client: Socket.IO on the same origin, authenticated by the login cookie. */
import { io } from 'socket.io-client';
import { api, gatewayNowMs, onApiDone } from '../api';
import { LiveClient, type LiveSocket } from './live-client';

/** Longest wait for an animation frame: to a hidden tab none comes, not even one that was asked for before. */
const FRAME_WAIT_MS = 250;

const socket = io('/live', {
  autoConnect: false,
  reconnection: false,
  transports: ['websocket', 'polling'],
  tryAllTransports: true,
  withCredentials: true,
});

export const liveClient = new LiveClient({
  socket: socket as unknown as LiveSocket,
  nowMs: gatewayNowMs,
  random: Math.random,
  schedule: (flush) => {
    const flushOnce = () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
      flush();
    };
    const frame = requestAnimationFrame(flushOnce);
    const timer = setTimeout(flushOnce, FRAME_WAIT_MS);
  },
  // A 401 here sends the page to the login; anything else leaves it trying.
  onRefused: () => void api.get('/v1/auth/me').catch(() => {}),
});

socket.io.on('ping', () => liveClient.hear());
// Whoever has done something looks for what came of it, and finds what was before while the page is not live.
onApiDone(() => liveClient.retryNow());
window.addEventListener('online', () => liveClient.retryNow());
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') liveClient.retryNow();
});
