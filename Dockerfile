# docker build -t twinlog .
# docker run -p 9092:9092 -p 5672:5672 -p 15672:15672 -v twinlog:/data twinlog \
#   --set kafka.advertised=127.0.0.1:9092
# The user guest may only come from the broker's own machine, which a container's peers are not: make another one with
#   docker exec CONTAINER twinlog user create NAME --tags administrator --password ...
FROM node:22-bookworm-slim AS console
WORKDIR /build/console
COPY console/package.json console/package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY console ./
RUN CONSOLE_OUT=/build/static npm run build

FROM rust:1-bookworm AS wheel
RUN apt-get update && apt-get install -y --no-install-recommends python3 python3-venv && rm -rf /var/lib/apt/lists/*
WORKDIR /build
COPY requirements requirements
RUN python3 -m venv /venv && /venv/bin/pip install --no-cache-dir -r requirements/build.txt
COPY pyproject.toml README.md LICENSE ./
COPY kernel kernel
COPY src src
COPY --from=console /build/static src/twinlog/servers/http/static
RUN /venv/bin/maturin build --release --out /wheels

FROM python:3.13-slim-bookworm
COPY --from=wheel /wheels /wheels
RUN pip install --no-cache-dir /wheels/*.whl && rm -r /wheels && useradd --system --create-home twinlog \
    && mkdir /data && chown twinlog /data
USER twinlog
VOLUME /data
EXPOSE 9092 5672 15672
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s \
  CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:15672/health/ready', timeout=2)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["twinlog", "serve", "--data-dir", "/data", "--kafka", "0.0.0.0:9092", "--amqp", "0.0.0.0:5672", "--http", "0.0.0.0:15672"]
