import 'reflect-metadata';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { expect, it } from 'vitest';

@Injectable()
class Pulse {
  readonly beatsPerMinute = 60;
}

@Injectable()
class Monitor {
  constructor(readonly pulse: Pulse) {}
}

@Module({ providers: [Pulse, Monitor] })
class PulseModule {}

it('injects constructor parameters by their type under vitest (decorator metadata is emitted)', async () => {
  const context = await NestFactory.createApplicationContext(PulseModule, { logger: false });
  expect(context.get(Monitor).pulse.beatsPerMinute).toBe(60);
  await context.close();
});
