import { Controller, Get, Header, Inject } from '@nestjs/common';
import { Public } from '../auth/access.js';
import { DOCUMENTATION, type Documentation } from './documentation.js';
import type { OpenApiDocument } from './openapi.js';

/** The documentation, for machines and for people. */
@Controller()
export class OpenApiController {
  constructor(@Inject(DOCUMENTATION) private readonly documentation: Documentation) {}

  @Get('v1/openapi.json')
  @Public()
  @Header('cache-control', 'no-cache')
  document(): OpenApiDocument {
    return this.documentation.document();
  }

  @Get('docs')
  @Public()
  @Header('content-type', 'text/html; charset=utf-8')
  @Header('cache-control', 'no-cache')
  page(): string {
    return this.documentation.page();
  }
}
