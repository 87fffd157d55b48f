import { Module } from '@nestjs/common';
import { LlmProxyModule } from '../llm-proxy/llm-proxy.module.js';
import { SemanticLoopModule } from '../semantic-loop/semantic-loop.module.js';
import { SystemController } from './system.controller.js';

/** What the whole gateway leans on, on one page. */
@Module({ imports: [LlmProxyModule, SemanticLoopModule], controllers: [SystemController] })
export class SystemModule {}
