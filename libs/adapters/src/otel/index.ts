export * from './otlp-span-sink.js';
