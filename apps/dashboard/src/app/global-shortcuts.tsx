/** The shortcuts that work on every page. */
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { listenForShortcuts, useShortcut } from './keyboard/use-shortcut';
import { useOverlay } from './overlays';

export function GlobalShortcuts() {
  const navigate = useNavigate();
  const open = useOverlay((state) => state.open);
  useEffect(() => listenForShortcuts(), []);
  useShortcut('palette', () => open('palette'));
  useShortcut('help', () => open('help'));
  useShortcut('goSessions', () => navigate({ to: '/' }));
  useShortcut('goFleet', () => navigate({ to: '/fleet' }));
  useShortcut('goStream', () => navigate({ to: '/stream' }));
  useShortcut('goAgents', () => navigate({ to: '/agents' }));
  useShortcut('goCalls', () => navigate({ to: '/calls' }));
  useShortcut('goIncidents', () => navigate({ to: '/incidents' }));
  useShortcut('goSpend', () => navigate({ to: '/spend' }));
  useShortcut('goCache', () => navigate({ to: '/cache' }));
  useShortcut('goAlerts', () => navigate({ to: '/alerts' }));
  useShortcut('goSystem', () => navigate({ to: '/system' }));
  useShortcut('goSettings', () => navigate({ to: '/settings' }));
  return null;
}
