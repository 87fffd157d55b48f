/** How the dashboard looks, and whether it calls from another tab. Kept in this browser. */
import { Monitor, Moon, Sun } from 'lucide-react';
import { useEffect } from 'react';
import { type NotificationState, notify, useNotifications } from '../../app/notifications';
import { THEME_CHOICES, useTheme } from '../../app/theme';
import { Button, Callout, Panel, Switch } from '../../ui';
import { Segmented } from '../../ui/segmented';

const ICONS = { system: Monitor, light: Sun, dark: Moon } as const;
const LABELS = { system: 'System', light: 'Light', dark: 'Dark' } as const;

export function AppearanceSection() {
  const { choice, setChoice } = useTheme();
  return (
    <div className="flex flex-col gap-4">
      <Panel title="Theme" bodyClassName="flex flex-wrap items-center gap-3 p-3">
        <p className="mr-auto text-muted">System follows what your computer is set to.</p>
        <Segmented
          label="Theme"
          value={choice}
          onChange={setChoice}
          options={THEME_CHOICES.map((value) => {
            const Icon = ICONS[value];
            return {
              value,
              label: (
                <>
                  <Icon size={13} aria-hidden="true" /> {LABELS[value]}
                </>
              ),
            };
          })}
        />
      </Panel>
      <NotificationPanel />
    </div>
  );
}

const EXPLANATIONS: Record<NotificationState, string> = {
  on: 'On. You are told of new loops, and of agents that wait for a person, while the session list is open in a window you are not looking at.',
  off: 'Off. When on, you are told of new loops, and of agents that wait for a person, while the session list is open in a window you are not looking at.',
  blocked:
    'Blocked by this browser. Allow notifications for this site in the browser’s settings, beside the address, then come back.',
  unsupported: 'Not available here: browsers allow notifications only over https or on localhost.',
};

function NotificationPanel() {
  const { state, refresh, turnOn, turnOff } = useNotifications();
  useEffect(() => {
    window.addEventListener('focus', refresh);
    return () => window.removeEventListener('focus', refresh);
  }, [refresh]);
  const isPossible = state === 'on' || state === 'off';
  return (
    <Panel title="Desktop notifications" bodyClassName="flex flex-col gap-3 p-3">
      {isPossible ? (
        <div className="flex flex-wrap items-center gap-3">
          <p role="status" className="mr-auto max-w-prose text-muted">
            {EXPLANATIONS[state]}
          </p>
          {state === 'on' ? (
            <Button
              size="sm"
              onClick={() =>
                notify('Observatory', 'This is how a session will call you.', 'observatory-test')
              }
            >
              Send a test
            </Button>
          ) : null}
          <Switch checked={state === 'on'} onChange={(wanted) => (wanted ? void turnOn() : turnOff())}>
            Notify me
          </Switch>
        </div>
      ) : (
        <Callout tone={state === 'blocked' ? 'warning' : 'neutral'}>{EXPLANATIONS[state]}</Callout>
      )}
    </Panel>
  );
}
