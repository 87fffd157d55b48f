import { describe, expect, it } from 'vitest';
import { enterGate, leaveGate, makeGate, stopGate } from './run-gate.js';

describe('the gate in front of the runtime', () => {
  it('lets the model in, one text after another', () => {
    const gate = makeGate();
    expect(enterGate(gate)).toBe(true);
    leaveGate(gate);
    expect(enterGate(gate)).toBe(true);
  });

  it('lets nothing in once the process is ending', () => {
    const gate = makeGate();
    stopGate(gate);
    expect(enterGate(gate)).toBe(false);
    leaveGate(gate);
    expect(enterGate(gate)).toBe(false);
  });

  it('holds the end of the process back no longer than its bound while the model is at work', () => {
    const gate = makeGate();
    enterGate(gate);
    stopGate(gate, 1);
    leaveGate(gate);
    expect(enterGate(gate)).toBe(false);
  });
});
