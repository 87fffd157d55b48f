/** Placeholder. */
export function SettingsPage() {
  return <h1 className="p-6 font-semibold text-xl">Settings</h1>;
}
