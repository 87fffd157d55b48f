/** Where the proxy sends calls, and what models cost: settings of a tenant. */
import { Body, Controller, Delete, Get, HttpCode, Param, Put } from '@nestjs/common';
import { z } from 'zod';
import {
  type OperatorPrincipal,
  type PriceTable,
  priceTablePutSchema,
  type Upstream,
  upstreamNameSchema,
  upstreamPutSchema,
} from '#contracts';
import { Principal, Requires } from '../../auth/access.js';
import { parseFields } from '../../errors/field-errors.js';
import { LlmProxyArea } from '../llm-proxy.area.js';

const nameSchema = z.object({ name: upstreamNameSchema });

@Controller('v1')
export class UpstreamsController {
  constructor(private readonly proxy: LlmProxyArea) {}

  @Get('upstreams')
  @Requires('observe')
  list(@Principal() { tenant_id }: OperatorPrincipal): { items: Upstream[] } {
    return { items: this.proxy.upstreams.list(tenant_id) };
  }

  @Put('upstreams/:name')
  @Requires('configure')
  put(
    @Principal() operator: OperatorPrincipal,
    @Param('name') givenName: string,
    @Body() body: unknown,
  ): Promise<Upstream> {
    const { name } = parseFields(nameSchema, { name: givenName });
    const { base_url: baseUrl, kind, api_key: apiKey } = parseFields(upstreamPutSchema, body);
    return this.proxy.upstreams.put(operator, name, { baseUrl, kind, apiKey });
  }

  @Delete('upstreams/:name')
  @HttpCode(204)
  @Requires('configure')
  remove(@Principal() operator: OperatorPrincipal, @Param('name') name: string): Promise<void> {
    return this.proxy.upstreams.remove(operator, name);
  }

  @Get('prices')
  @Requires('observe')
  prices(@Principal() { tenant_id }: OperatorPrincipal): PriceTable {
    return this.proxy.prices.table(tenant_id);
  }

  @Put('prices')
  @Requires('configure')
  putPrices(@Principal() operator: OperatorPrincipal, @Body() body: unknown): Promise<PriceTable> {
    return this.proxy.prices.put(operator, parseFields(priceTablePutSchema, body));
  }
}
