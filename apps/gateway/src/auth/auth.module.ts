/** Access: who is calling, whether it may, and how access is given and taken. */
import { Global, Module } from '@nestjs/common';
import { APP_GUARD, Reflector } from '@nestjs/core';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { type DecisionStore, ObservatoryError } from '#contracts';
import { LoginThrottle } from '#domain/auth';
import { type Clock, type IdSource, steadyClock, systemTimer } from '#kernel';
import type { GatewayConfig } from '../config/config.js';
import type { GatewaySecrets } from '../config/secrets.js';
import { storeTrouble } from '../config/store-trouble.js';
import { metersOf } from '../telemetry/metrics.js';
import { CLOCK, CONFIG, IDS, LOGGER, METRICS, SECRETS, STORE } from '../tokens.js';
import { AccessController } from './access.controller.js';
import { AccessGuard } from './access.guard.js';
import { ACCESS_DESK, AccessDesk } from './access-desk.js';
import { AuthController } from './auth.controller.js';
import { AUTHENTICATOR, Authenticator } from './authenticator.js';
import { BOOTSTRAP, bootstrapAccess } from './bootstrap.js';
import { CREDENTIALS, CredentialDirectory } from './credential-directory.js';
import { LOGIN_DESK, LoginDesk } from './login-desk.js';

const NO_ROOM_FOR_CREDENTIALS =
  'no credentials can be stored, so nobody could log in: the disk is full or fails; make room, or choose another place';
const isDiskFull = (error: unknown): boolean =>
  error instanceof ObservatoryError && error.code === 'store_full';

@Global()
@Module({
  controllers: [AuthController, AccessController],
  providers: [
    {
      provide: CREDENTIALS,
      inject: [STORE, CLOCK, LOGGER],
      useFactory: async (store: DecisionStore, clock: Clock, logger: Logger) => {
        const onSaveFailed = (err: unknown) =>
          logger.warn({ err }, 'the last use of a credential was not saved');
        const onLoginUnsaved = (err: unknown) =>
          logger.warn({ err }, 'a login was not saved in time; a restart may forget it');
        const directory = new CredentialDirectory({
          store,
          clock,
          timer: systemTimer,
          onSaveFailed,
          onLoginUnsaved,
        });
        await directory.load();
        return directory;
      },
    },
    {
      provide: ACCESS_DESK,
      inject: [CREDENTIALS, STORE, CLOCK, IDS],
      useFactory: (directory: CredentialDirectory, store: DecisionStore, clock: Clock, ids: IdSource) =>
        new AccessDesk({ directory, store, clock, ids, timer: systemTimer }),
    },
    {
      provide: BOOTSTRAP,
      inject: [CREDENTIALS, ACCESS_DESK, CLOCK, SECRETS, CONFIG],
      useFactory: (
        directory: CredentialDirectory,
        desk: AccessDesk,
        clock: Clock,
        { operatorToken, agentKey }: GatewaySecrets,
        { isOperatorTokenReset, dataDir }: GatewayConfig,
      ) =>
        bootstrapAccess({
          directory,
          desk,
          clock,
          secrets: { operatorToken, agentKey },
          isOperatorTokenReset,
        }).catch((error: unknown) => {
          throw isDiskFull(error) ? storeTrouble(NO_ROOM_FOR_CREDENTIALS, { dataDir }) : error;
        }),
    },
    {
      // Waits for the bootstrap: nobody is authenticated against half of the credentials.
      provide: AUTHENTICATOR,
      inject: [CREDENTIALS, CONFIG, BOOTSTRAP],
      useFactory: (directory: CredentialDirectory, { allowedOrigins }: GatewayConfig) =>
        new Authenticator({ directory, allowedOrigins }),
    },
    {
      provide: LOGIN_DESK,
      inject: [CREDENTIALS, CLOCK, IDS, METRICS, LOGGER],
      useFactory: (
        directory: CredentialDirectory,
        clock: Clock,
        ids: IdSource,
        metrics: Registry,
        logger: Logger,
      ) => {
        const attempts = metersOf(metrics).counter(
          'logins_total',
          'Attempts to log in: ok, refused (wrong token), throttled.',
          'outcome',
        );
        const throttle = new LoginThrottle({ clock: steadyClock });
        return new LoginDesk({
          directory,
          throttle,
          clock,
          ids,
          onAttempt: (outcome) => attempts.inc({ outcome }),
          onLogoutUnsaved: (err) =>
            logger.warn(
              { err },
              'the end of a login was not saved in time; a restart before that may forget it',
            ),
        });
      },
    },
    {
      provide: APP_GUARD,
      inject: [AUTHENTICATOR, Reflector, LOGGER],
      useFactory: (authenticator: Authenticator, reflector: Reflector, logger: Logger) =>
        new AccessGuard({ authenticator, reflector, logger }),
    },
  ],
  exports: [AUTHENTICATOR, BOOTSTRAP, CREDENTIALS],
})
export class AuthModule {}
