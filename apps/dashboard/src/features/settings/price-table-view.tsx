/** The prices as a table to type in. */
import { Trash2 } from 'lucide-react';
import { ActionsTh, cx, IconButton, Input, Table, Td, Th } from '../../ui';
import { EMPTY_MEANS, PRICE_FIELDS, PRICE_LABELS, type PriceField, type PriceRow } from './price-draft';

interface PriceTableViewProps {
  rows: readonly PriceRow[];
  errors: Readonly<Record<string, string>>;
  isReadOnly: boolean;
  onEdit: (row: PriceRow, field: PriceField | 'model', text: string) => void;
  onRemove: (row: PriceRow) => void;
}

export function PriceTableView({ rows, errors, isReadOnly, onEdit, onRemove }: PriceTableViewProps) {
  return (
    <Table className="min-w-[59rem]">
      <thead>
        <tr>
          <Th>Model</Th>
          {PRICE_FIELDS.map((field) => (
            <Th key={field} className="w-28 !px-2">
              {PRICE_LABELS[field]}
            </Th>
          ))}
          <ActionsTh className="w-12" />
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.key} data-testid="price-row" className={cx(row.isChanged && 'bg-accent-soft/40')}>
            <Td className="!py-1">
              {row.addedId === null ? (
                <span className="whitespace-nowrap font-mono text-xs">{row.model}</span>
              ) : (
                <PriceInput
                  label="Model"
                  text={row.model}
                  error={errors[`${row.key} model`]}
                  isReadOnly={isReadOnly}
                  placeholder="gpt-5-mini or my-model-*"
                  onChange={(text) => onEdit(row, 'model', text)}
                />
              )}
            </Td>
            {PRICE_FIELDS.map((field) => (
              <Td key={field} className="!px-1 !py-1">
                <PriceInput
                  label={`${PRICE_LABELS[field]} price of ${row.model || 'the new model'}`}
                  text={row.texts[field]}
                  error={errors[`${row.key} ${field}`]}
                  isReadOnly={isReadOnly}
                  placeholder={EMPTY_MEANS[field] ?? ''}
                  onChange={(text) => onEdit(row, field, text)}
                />
              </Td>
            ))}
            <Td className="!px-1.5 !py-1 text-right">
              {isReadOnly ? null : (
                <IconButton
                  label={`Remove ${row.model || 'the new model'}`}
                  icon={<Trash2 size={14} aria-hidden="true" />}
                  onClick={() => onRemove(row)}
                />
              )}
            </Td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

interface PriceInputProps {
  label: string;
  text: string;
  error: string | undefined;
  isReadOnly: boolean;
  placeholder: string;
  onChange: (text: string) => void;
}

function PriceInput({ label, text, error, isReadOnly, placeholder, onChange }: PriceInputProps) {
  return (
    <>
      <Input
        aria-label={label}
        aria-invalid={error ? true : undefined}
        title={error}
        value={text}
        readOnly={isReadOnly}
        placeholder={placeholder}
        autoComplete="off"
        onChange={(event) => onChange(event.target.value)}
        className={cx(
          'nums !h-7 !min-w-[9.5ch] !px-2 text-xs',
          isReadOnly && '!border-transparent !bg-transparent',
        )}
      />
      {error ? (
        <p role="alert" className="text-danger text-xs">
          {error}
        </p>
      ) : null}
    </>
  );
}
