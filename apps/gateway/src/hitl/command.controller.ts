import { Body, Controller, HttpCode, Inject, Param, Post } from '@nestjs/common';
import { type Command, type CommandAnswer, ObservatoryError, type OperatorPrincipal } from '#contracts';
import { Principal, Requires } from '../auth/access.js';
import { hasNoRoomYet } from '../has-no-room-yet.js';
import { CONTROL_DESK } from './control-desk.js';
import type { HitlDesk } from './hitl-desk.js';
import { parseSessionId } from './session-id.js';

/** What an operator tells a session to do. */
@Controller('v1/sessions/:session_id')
export class CommandController {
  constructor(@Inject(CONTROL_DESK) private readonly desk: HitlDesk) {}

  @Post('pause')
  @HttpCode(200)
  @Requires('command')
  pause(@Principal() operator: OperatorPrincipal, @Param('session_id') id: string, @Body() body: unknown) {
    return this.execute(operator, id, 'pause', body);
  }

  @Post('resume')
  @HttpCode(200)
  @Requires('command')
  resume(@Principal() operator: OperatorPrincipal, @Param('session_id') id: string, @Body() body: unknown) {
    return this.execute(operator, id, 'resume', body);
  }

  @Post('inject')
  @HttpCode(200)
  @Requires('command')
  inject(@Principal() operator: OperatorPrincipal, @Param('session_id') id: string, @Body() body: unknown) {
    return this.execute(operator, id, 'inject', body);
  }

  @Post('rewrite')
  @HttpCode(200)
  @Requires('command')
  rewrite(@Principal() operator: OperatorPrincipal, @Param('session_id') id: string, @Body() body: unknown) {
    return this.execute(operator, id, 'rewrite', body);
  }

  @Post('terminate')
  @HttpCode(200)
  @Requires('command')
  terminate(
    @Principal() operator: OperatorPrincipal,
    @Param('session_id') id: string,
    @Body() body: unknown,
  ) {
    return this.execute(operator, id, 'terminate', body);
  }

  private async execute(
    operator: OperatorPrincipal,
    sessionId: string,
    command: Command,
    body: unknown,
  ): Promise<CommandAnswer> {
    try {
      return await this.desk.execute(operator, parseSessionId(sessionId), command, body);
    } catch (error) {
      throw STOPS.has(command) && hasNoRoomYet(error) ? withOtherWay(error) : error;
    }
  }
}

const STOPS: ReadonlySet<Command> = new Set(['pause', 'terminate']);

/** Of a session nothing changes that is not stored; of an agent its stop does. */
const withOtherWay = ({ code, detail, extra }: ObservatoryError): ObservatoryError =>
  new ObservatoryError(
    code,
    `${detail} To stop it all the same, deactivate its agent: that is in force at once.`,
    extra,
  );
