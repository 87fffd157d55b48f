# Observatory's gateway: agents post to it, people look at it. docs/deployment.md says how to run it.
#
#   docker build --file docker/gateway.Dockerfile --tag observatory-gateway:local .
#
# Build and packages are the same in both Dockerfiles, word for word, so that they are built once.
ARG NODE_VERSION=20.20.2

# Compilers come with this one: on Node 20 better-sqlite3 is compiled where no prebuilt binary is to be had.
FROM node:${NODE_VERSION}-bookworm AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.base.json ./
COPY scripts ./scripts
COPY libs ./libs
COPY apps ./apps
RUN node scripts/build.mjs

FROM node:${NODE_VERSION}-bookworm AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# ONNX Runtime brings its library for three systems; two of them never run here.
RUN npm ci --omit=dev --no-audit --no-fund \
  && rm -rf node_modules/onnxruntime-node/bin/*/darwin node_modules/onnxruntime-node/bin/*/win32

FROM node:${NODE_VERSION}-bookworm-slim AS runtime
# ONNX Runtime reports to its maker unless told not to.
ENV NODE_ENV=production \
  ORT_DISABLE_TELEMETRY=1
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json LICENSE ./
COPY libs/contracts/proto ./libs/contracts/proto
COPY models ./models
COPY scripts ./scripts
# Everything under /app belongs to root and is only read. Written are these two, and /tmp by those who mount one.
RUN mkdir -p /var/lib/observatory /run/observatory \
  && chown 1000:1000 /var/lib/observatory /run/observatory \
  && chmod 0700 /var/lib/observatory /run/observatory
ENV HOST=0.0.0.0 \
  PORT=4000 \
  OBSERVATORY_DATA_DIR=/var/lib/observatory
VOLUME ["/var/lib/observatory", "/run/observatory"]
EXPOSE 4000
# The image's own user `node`, by number: what checks for "not root" need not know names.
USER 1000:1000
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/readyz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=64", "dist/apps/gateway/src/main.js"]
