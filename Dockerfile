# The gateway and the simulator, in one image. Stages that need no network come first, because the classic builder builds
# every stage before the target.
#
#   docker build -t weir .                          built inside, with npm. In a fresh clone only BuildKit can: the classic builder
#                                                   misses what the stage `offline` takes from the context
#   docker build --target offline --build-arg BASE_IMAGE=… -t weir .
#                                                   dist and node_modules as they lie in the context, nothing downloaded
#                                                   (see docs/observability.md)
ARG BASE_IMAGE=node:24.21.0-bookworm-slim

FROM ${BASE_IMAGE} AS runtime
# Where the base has no Node, the one that npm brought is in node_modules/.bin.
ENV NODE_ENV=production \
    WEIR_HOST=0.0.0.0 \
    SIMULATOR_HOST=0.0.0.0 \
    PATH=/weir/node_modules/.bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
WORKDIR /weir
USER 10001:10001
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.WEIR_PORT||8080}/readyz`).then(({ok})=>process.exit(ok?0:1),()=>process.exit(1))"]
CMD ["node", "--enable-source-maps", "dist/apps/gateway/apps/gateway/src/main.js"]

FROM runtime AS offline
COPY package.json ./
COPY node_modules node_modules
COPY dist dist

FROM ${BASE_IMAGE} AS manifests
WORKDIR /weir
COPY package.json package-lock.json ./

# The base brings Node, which is the optional dependency of package.json.
FROM manifests AS dependencies
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund

FROM manifests AS build
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY nest-cli.json tsconfig.json ./
COPY apps apps
COPY libs libs
RUN npm run build

FROM runtime AS gateway
COPY package.json ./
COPY --from=dependencies /weir/node_modules node_modules
COPY --from=build /weir/dist dist
