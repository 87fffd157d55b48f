/** One setting: what it is at the left, its value, unit and default at the right. */
import { RotateCcw } from 'lucide-react';
import { useId } from 'react';
import { Button, cx, Input, Select } from '../../ui';
import type { Setting } from './config-form';

interface SettingFieldProps {
  setting: Setting;
  text: string;
  defaultText: string;
  /** What is in force is the default. */
  isDefault: boolean;
  error: string | undefined;
  denial: string | null;
  onChange: (text: string) => void;
  onReset: () => void;
}

export function SettingField(props: SettingFieldProps) {
  const { setting, text, defaultText, isDefault, error, denial, onChange, onReset } = props;
  const id = useId();
  const noteId = `${id}-note`;
  return (
    <div className="flex flex-col gap-2 px-3 py-3 md:flex-row md:items-start md:gap-6">
      <div className="min-w-0 flex-1">
        <label htmlFor={id} className="font-medium">
          {setting.label}
        </label>
        <p id={noteId} className="text-muted text-xs">
          {setting.help}
        </p>
      </div>
      <div className="md:w-64">
        {setting.kind === 'number' ? (
          <div className="flex items-center gap-2">
            <Input
              id={id}
              value={text}
              inputMode="decimal"
              name={setting.key}
              readOnly={denial !== null}
              aria-invalid={error ? true : undefined}
              aria-describedby={`${noteId} ${id}-foot`}
              onChange={(event) => onChange(event.target.value)}
              className={cx('nums', denial !== null && '!bg-sunken !text-muted')}
            />
            {setting.unit ? <span className="w-14 shrink-0 text-muted text-xs">{setting.unit}</span> : null}
          </div>
        ) : (
          <Select
            label={setting.label}
            value={text}
            options={setting.options}
            onChange={onChange}
            disabled={denial !== null}
            className="w-full"
          />
        )}
        <div id={`${id}-foot`} className="mt-1 flex min-h-6 flex-wrap items-center gap-x-2 text-xs">
          {error ? (
            <p role="alert" className="w-full text-danger">
              {error}
            </p>
          ) : null}
          <DefaultNote {...props} defaultText={defaultText} />
          {isDefault ? null : (
            <Button
              size="sm"
              variant="ghost"
              className="!h-6 !px-1.5"
              icon={<RotateCcw size={12} aria-hidden="true" />}
              disabledReason={denial}
              aria-label={`Reset ${setting.label} to its default`}
              onClick={onReset}
            >
              Reset
            </Button>
          )}
        </div>
      </div>
    </div>
  );
}

function DefaultNote({ setting, text, defaultText }: SettingFieldProps) {
  if (setting.kind === 'choice') {
    const option = setting.options.find(({ value }) => value === defaultText);
    return <span className="text-muted">Default: {option?.label ?? defaultText}</span>;
  }
  return (
    <span className="nums text-muted">
      Default {defaultText}
      {setting.zero ? `, 0 means ${setting.zero}` : ''}
      {setting.zero && text.trim() === '0' ? <strong className="text-warning"> (now)</strong> : null}
    </span>
  );
}
