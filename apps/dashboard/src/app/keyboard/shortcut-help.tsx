/** The list behind `?`. */
import { Dialog, Kbd } from '../../ui';
import { useOverlay } from '../overlays';
import { KEY_MAP, type Shortcut } from './key-map';

const shortcuts: readonly Shortcut[] = Object.values(KEY_MAP);
const sections = [...new Set(shortcuts.map((shortcut) => shortcut.section))];

export function ShortcutHelp() {
  const { shown, close } = useOverlay();
  return (
    <Dialog
      open={shown === 'help'}
      onOpenChange={close}
      title="Keyboard shortcuts"
      description="While you type, the command palette alone opens."
      textLabel="All shortcuts"
      className="md:max-w-3xl"
    >
      <div className="gap-8 pb-2 md:columns-2">
        {sections.map((section) => (
          <section key={section} aria-label={section} className="mb-4 break-inside-avoid">
            <h3 className="mb-1 font-medium text-muted text-xs">{section}</h3>
            <dl>
              {shortcuts
                .filter((shortcut) => shortcut.section === section)
                .map(({ keys, label }) => (
                  <div
                    key={keys}
                    className="flex h-8 items-center justify-between border-line border-b last:border-0"
                  >
                    <dt>{label}</dt>
                    <dd>
                      <Kbd keys={keys} />
                    </dd>
                  </div>
                ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
